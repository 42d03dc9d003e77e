print("rmx-core")
